package io.ordertimeout.it.oracle;

import org.apache.kafka.clients.consumer.ConsumerRecord;

/** Where a record stands in Kafka. */
record Place(String topic, int partition, long offset) {

  static Place of(ConsumerRecord<?, ?> record) {
    return new Place(record.topic(), record.partition(), record.offset());
  }

  @Override
  public String toString() {
    return topic + "-" + partition + "@" + offset;
  }
}
