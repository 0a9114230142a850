package io.ordertimeout.it.traffic;

import io.ordertimeout.it.oracle.DeadLetterJudge;
import io.ordertimeout.it.support.Shop;
import io.ordertimeout.it.support.TopicNames;
import java.util.List;
import java.util.random.RandomGenerator;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.jspecify.annotations.Nullable;

/**
 * Unusable records, most of them under the key of an order, marked for the oracle with a header
 * that the service ignores.
 */
final class GarbageRecords {

  private static final List<String> ANYWHERE =
      List.of(
          "", "no JSON", "[1,2]", "{\"orderId\":", "{\"paymentId\":\"p1\"}", "{\"orderId\":17}");

  private static final List<String> CREATED =
      List.of(
          "{\"orderId\":\"%s\",\"timeout\":\"-PT1S\"}",
          "{\"orderId\":\"%s\",\"timeout\":\"soon\"}",
          "{\"orderId\":\"another\",\"timeout\":\"PT5S\"}");

  private GarbageRecords() {}

  static ProducerRecord<byte[], byte[]> record(
      RandomGenerator random, TopicNames topics, String orderId) {
    String topic = topics.inputs().get(random.nextInt(topics.inputs().size()));
    List<String> values =
        topic.equals(topics.created()) && random.nextBoolean() ? CREATED : ANYWHERE;
    String value = values.get(random.nextInt(values.size())).formatted(orderId);
    // Among payments and closures, it puts the order in doubt. Without a key, nobody can tell
    // which.
    byte @Nullable [] key = random.nextInt(4) == 0 ? null : Shop.utf8(orderId);
    ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(topic, key, Shop.utf8(value));
    record.headers().add(DeadLetterJudge.GARBAGE_HEADER, Shop.utf8("yes"));
    return record;
  }
}
