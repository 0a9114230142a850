package io.ordertimeout.orders.platform.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.SQLException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.dao.DataIntegrityViolationException;

class RejectedRowTest {

  @ParameterizedTest
  @ValueSource(strings = {"22001", "22021", "23502", "23514", "54000", "P0001"})
  void dataErrorsAndConstraintViolationsRejectTheRow(String state) {
    assertThat(RejectedRow.reason(failure(state))).contains(state + ": rejected");
  }

  @ParameterizedTest
  @ValueSource(strings = {"08006", "25006", "40P01", "42P01", "53100", "55P03", "57014", "57P01"})
  void failuresOfTheServerRejectNoRow(String state) {
    assertThat(RejectedRow.reason(failure(state))).isEmpty();
  }

  @Test
  void failuresWithoutAnSqlStateRejectNoRow() {
    assertThat(RejectedRow.reason(new SQLException("no state"))).isEmpty();
    assertThat(RejectedRow.reason(new IllegalStateException())).isEmpty();
  }

  private static Exception failure(String state) {
    return new DataIntegrityViolationException("wrapped", new SQLException("rejected", state));
  }
}
