package io.ordertimeout.orders.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** All measurements in small, on real servers, with the service and one peer. */
class BenchmarksIT {

  @Test
  @Timeout(1_200)
  void everythingIsMeasuredAndEveryOrderIsDecidedRightly() throws Exception {
    Path out = Path.of("target", "report");
    Options options =
        Options.of(
            Files.createTempDirectory(Path.of("target"), "data"),
            "--quick",
            "--peers=polling_job",
            "--service-jar=" + System.getProperty("service.jar"),
            "--out=" + out);

    assertThat(Benchmarks.run(options)).isEmpty();

    assertThat(Files.readString(Path.of(out + ".md")))
        .contains("0 violations", "| Order timeout, empty table |", "| bare statements |")
        .contains("| polling job |");
    assertThat(Files.readString(Path.of(out + ".html"))).contains("<svg");
  }
}
