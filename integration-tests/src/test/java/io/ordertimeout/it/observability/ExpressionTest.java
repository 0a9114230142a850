package io.ordertimeout.it.observability;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

/** The parsing of PromQL expressions. */
class ExpressionTest {

  @Test
  void functionsLabelsAndKeywordsAreNotMetrics() {
    Expression expression =
        Expression.of(
            """
            # a comment with a_name
            sum by (le, shard) (rate(a_bucket{le="0.25", x=~"b_c > 1"}[5m])) / on (d) group_left
              sum(e_total offset 1h) without (f)
              > bool 1e9 unless on (g) level:h:rate5m > 14.4 * 0.01 or vector(0)
            """);

    assertThat(expression.metrics()).containsExactly("a_bucket", "e_total", "level:h:rate5m");
  }

  @Test
  void withoutItsConditionsItUsesTheSameSeries() {
    assertThat(Expression.of("a{b!=\"1\"} > 2 unless on (c) d == 3").withoutConditions())
        .isEqualTo("a{b!=\"1\"} > bool  2 and on (c) d == bool  3");
    assertThat(Expression.of("absent(up{job=\"a\"} == 1)").withoutConditions())
        .isEqualTo("count(up{job=\"a\"} == bool  1)");
  }

  @Test
  void invalidExpressionsAreRefused() {
    assertThatThrownBy(() -> Expression.of("sum(a) & b"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("& b");
  }
}
