package io.ordertimeout.orders.platform.loop;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.support.StaticListableBeanFactory;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;

class LoopsHealthIndicatorTest {

  private List<String> ended = List.of();

  @Test
  void isDownOnceAThreadHasEnded() {
    StaticListableBeanFactory beans = new StaticListableBeanFactory();
    LoopThreads loop = () -> ended;
    beans.addBean("loop", loop);
    LoopsHealthIndicator indicator =
        new LoopsHealthIndicator(beans.getBeanProvider(LoopThreads.class));
    assertThat(indicator.health().getStatus()).isEqualTo(Status.UP);

    ended = List.of("intake-0");

    Health health = indicator.health();
    assertThat(health.getStatus()).isEqualTo(Status.DOWN);
    assertThat(health.getDetails()).containsEntry("ended", ended);
  }
}
