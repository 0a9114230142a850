package io.ordertimeout.it.traffic;

import io.ordertimeout.it.oracle.DeadLetterJudge;
import io.ordertimeout.it.support.Shop;
import io.ordertimeout.it.support.TopicNames;
import java.util.List;
import java.util.random.RandomGenerator;
import org.apache.kafka.clients.producer.ProducerRecord;

/** Unusable records, marked for the oracle with a header that the service ignores. */
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
    // Keyed by an order, it would rightly park that order, which would then stay pending.
    String key = topic.equals(topics.created()) ? orderId : "no-order";
    ProducerRecord<byte[], byte[]> record =
        new ProducerRecord<>(topic, Shop.utf8(key), Shop.utf8(value));
    record.headers().add(DeadLetterJudge.GARBAGE_HEADER, Shop.utf8("yes"));
    return record;
  }
}
