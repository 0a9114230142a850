package io.ordertimeout.orders.benchmarks.servers;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class GcPausesTest {

  @Test
  void onlyPausesAreCounted(@TempDir Path directory) throws IOException {
    Path log = directory.resolve("gc.log");
    Files.writeString(
        log,
        """
        [0.006s] Using G1
        [0.512s] GC(0) Pause Young (Normal) (G1 Evacuation Pause) 23M->4M(256M) 12.345ms
        [0.700s] GC(1) Concurrent Mark Cycle 80.123ms
        [1.200s] GC(2) Pause Remark 30M->30M(256M) 2.500ms
        """);
    GcPauses pauses = new GcPauses(log);

    assertThat(pauses.count()).isEqualTo(2);
    assertThat(pauses.longestMillisAfter(0)).isEqualTo(12.345);
    assertThat(pauses.longestMillisAfter(1)).isEqualTo(2.5);
    assertThat(pauses.longestMillisAfter(2)).isZero();
  }
}
