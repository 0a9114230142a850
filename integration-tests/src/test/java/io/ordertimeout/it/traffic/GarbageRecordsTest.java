package io.ordertimeout.it.traffic;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.it.oracle.DeadLetterJudge;
import io.ordertimeout.it.support.TopicNames;
import java.nio.charset.StandardCharsets;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class GarbageRecordsTest {

  private static final TopicNames TOPICS = TopicNames.of("t");

  @Test
  void everyTopicGetsGarbageUnderTheKeyOfTheOrderAndWithoutAKey() {
    SplittableRandom random = new SplittableRandom(7);
    assertThat(Stream.generate(() -> GarbageRecords.record(random, TOPICS, "a")).limit(500))
        .allSatisfy(
            garbage ->
                assertThat(garbage.headers().lastHeader(DeadLetterJudge.GARBAGE_HEADER))
                    .isNotNull())
        .extracting(
            garbage ->
                garbage.topic()
                    + " "
                    + (garbage.key() == null
                        ? "no key"
                        : new String(garbage.key(), StandardCharsets.UTF_8)))
        .contains("t-created a", "t-paid a", "t-closed a")
        .contains("t-created no key", "t-paid no key", "t-closed no key");
  }
}
