package io.ordertimeout.orders.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** All measurements in small, on real servers, with the service and every peer. */
class BenchmarksIT {

  @Test
  @Timeout(1_200)
  void everythingIsMeasuredAndEveryOrderIsDecidedRightly(@TempDir Path directory) throws Exception {
    Path out = directory.resolve("report");
    Options options =
        Options.of(
            directory.resolve("data"),
            "--quick",
            "--service-jar=" + System.getProperty("service.jar"),
            "--out=" + out);

    assertThat(Benchmarks.run(options)).isEmpty();

    assertThat(Files.readString(Path.of(out + ".md")))
        .contains("0 violations", "| Order timeout, empty table |", "| bare statements |")
        .contains("| polling job |", "| db-scheduler |", "| Quartz |", "| JobRunr |");
    assertThat(Files.readString(Path.of(out + ".html"))).contains("<svg");
  }
}
