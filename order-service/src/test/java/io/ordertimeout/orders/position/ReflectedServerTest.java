package io.ordertimeout.orders.position;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.orders.platform.kafka.DefaultPartitioner;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;

class ReflectedServerTest {

  private static final int COUNT = 6;
  private static final TopicPartition UNREAD = new TopicPartition("order-cancelled", 4);

  private static final List<String> ORDERS =
      IntStream.range(0, 100).mapToObj(i -> "order-" + i).toList();

  @Test
  void aServerOfWhichEverythingWasReadReflectsEveryOrder() {
    assertThat(ORDERS).allMatch(ReflectedServer.entirely("server")::reflects);
  }

  @Test
  void anUnreadPartitionConcernsTheOrdersThatThePartitionerAssignsToIt() {
    ReflectedServer server =
        new ReflectedServer("server", List.of(UNREAD), Map.of(UNREAD.topic(), COUNT));

    assertThat(ORDERS)
        .allSatisfy(
            order ->
                assertThat(server.reflects(order))
                    .as(order)
                    .isEqualTo(DefaultPartitioner.partition(order, COUNT) != UNREAD.partition()));
  }

  @Test
  void anUnreadPartitionOfATopicThatHasGrownConcernsEveryOrder() {
    ReflectedServer server =
        new ReflectedServer("server", List.of(UNREAD), Map.of("order-payment-conflict", COUNT));

    assertThat(ORDERS).noneMatch(server::reflects);
  }
}
