package io.ordertimeout.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PostgresBinariesTest {

  @ParameterizedTest
  @CsvSource({
    "Linux, amd64, false",
    "Linux, amd64, true",
    "Linux, aarch64, false",
    "Mac OS X, aarch64, false",
    "Mac OS X, x86_64, false",
    "Windows 11, amd64, false",
    "Windows 11, aarch64, false"
  })
  void archiveIsOnTheClassPath(String system, String processor, boolean alpine) {
    String archive = PostgresBinaries.archive(system, processor, alpine);
    assertThat(PostgresBinariesTest.class.getResource("/" + archive)).as(archive).isNotNull();
  }

  @Test
  void unknownMachineIsNamed() {
    assertThatThrownBy(() -> PostgresBinaries.archive("SunOS", "sparc", false))
        .hasMessageContaining("SunOS on sparc");
  }
}
