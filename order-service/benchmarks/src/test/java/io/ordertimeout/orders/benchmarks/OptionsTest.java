package io.ordertimeout.orders.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ordertimeout.orders.benchmarks.contender.Peer;
import io.ordertimeout.orders.benchmarks.measurement.Scale;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class OptionsTest {

  private static Options options(String... arguments) {
    return Options.of(Path.of("tmp"), arguments);
  }

  @Test
  void withoutOptionsEverythingIsMeasuredOnce() {
    Options options = options();

    assertThat(options.scale()).isEqualTo(Scale.DEFAULT);
    assertThat(options.runs()).isEqualTo(1);
    assertThat(options.firstStartOnly()).isFalse();
    assertThat(options.peers()).containsExactly(Peer.values());
    assertThat(options.directory()).isEqualTo(Path.of("tmp"));
  }

  @Test
  void eachOptionIsUnderstood() {
    Options options =
        options(
            "--pending=1",
            "--settled=2",
            "--due=3",
            "--seconds=4",
            "--burst=5",
            "--backlog=6",
            "--rush=8",
            "--day=9",
            "--starts=10",
            "--first-start=11",
            "--first-start-only",
            "--partitions=64",
            "--runs=7",
            "--peers=quartz,db_scheduler",
            "--service-jar=a.jar",
            "--heap=2g",
            "--jvm-options=-Xint,-Xbatch",
            "--directory=/d",
            "--out=r");

    assertThat(options)
        .isEqualTo(
            new Options(
                new Scale(1, 2, 3, 4, 5, 6, 8, 9, 10, 11),
                7,
                true,
                64,
                List.of(Peer.QUARTZ, Peer.DB_SCHEDULER),
                Path.of("a.jar"),
                "2g",
                List.of("-Xint", "-Xbatch"),
                Path.of("/d"),
                Path.of("r")));
  }

  @Test
  void quickKeepsWhatIsStatedBesides() {
    assertThat(options("--burst=9", "--quick").scale()).isEqualTo(Scale.QUICK.withBurst(9));
    assertThat(options("--peers=none").peers()).isEmpty();
  }

  @Test
  void anInvalidOptionIsNamed() {
    assertThatThrownBy(() -> options("--size=3")).hasMessage("Unknown option: --size=3");
    assertThatThrownBy(() -> options("--runs=x")).hasMessageEndingWith("--runs=x");
    assertThatThrownBy(() -> options("--due=-1")).hasMessageEndingWith("--due=-1");
    assertThatThrownBy(() -> options("--peers=cron")).hasMessageStartingWith("Unknown peer: cron");
  }
}
