package io.ordertimeout.orders.platform.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PurgeTest {

  private final List<String> purged = new ArrayList<>();

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void whatCannotBePurgedDelaysNothingElseAndIsReported(boolean isError) {
    Purgeable failing =
        () -> {
          purged.add("failing");
          if (isError) {
            throw new StackOverflowError("first");
          }
          throw new IllegalStateException("first");
        };
    Purgeable alsoFailing =
        () -> {
          purged.add("also failing");
          throw new IllegalArgumentException("second");
        };

    Throwable thrown =
        catchThrowable(
            () -> Purge.purge(List.of(failing, alsoFailing, () -> purged.add("working"))));

    assertThat(purged).containsExactly("failing", "also failing", "working");
    assertThat(thrown).hasMessage("first");
    assertThat(thrown.getSuppressed()).hasSize(1);
    assertThat(thrown.getSuppressed()[0]).hasMessage("second");
  }
}
