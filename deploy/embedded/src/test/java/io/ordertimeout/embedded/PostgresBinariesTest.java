package io.ordertimeout.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PostgresBinariesTest {

  @Test
  void archiveForThisMachineIsOnTheClassPath() {
    String archive =
        PostgresBinaries.archive(
            System.getProperty("os.name"),
            System.getProperty("os.arch"),
            Files.exists(Path.of("/etc/alpine-release")));
    assertThat(PostgresBinariesTest.class.getResource("/" + archive)).as(archive).isNotNull();
  }

  @ParameterizedTest
  @CsvSource({
    "Linux, amd64, false, linux-x86_64",
    "Linux, amd64, true, linux-x86_64-alpine_linux",
    "Linux, aarch64, false, linux-arm_64",
    "Mac OS X, aarch64, false, darwin-arm_64",
    "Mac OS X, x86_64, false, darwin-arm_64",
    "Windows 11, amd64, false, windows-x86_64",
    "Windows 11, aarch64, false, windows-x86_64"
  })
  void selectsTheArchiveForTheMachine(
      String system, String processor, boolean alpine, String machine) {
    assertThat(PostgresBinaries.archive(system, processor, alpine))
        .isEqualTo("postgres-" + machine + ".txz");
  }

  @Test
  void namesAnUnsupportedMachine() {
    assertThatThrownBy(() -> PostgresBinaries.archive("SunOS", "sparc", false))
        .hasMessageContaining("SunOS on sparc");
  }
}
