package io.ordertimeout.it.oracle;

import static org.assertj.core.api.Assertions.assertThat;

import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;

class AcknowledgementsTest {

  private static final TopicPartition PARTITION = new TopicPartition("paid", 1);

  private final Acknowledgements acknowledgements = new Acknowledgements();

  @Test
  void knowsWhatWasCommitted() {
    acknowledgements.add(metadata(4));
    assertThat(acknowledgements.committed()).isEmpty();
    acknowledgements.commit(metadata(4));
    assertThat(acknowledgements.committed()).containsExactly(new RecordPosition("paid", 1, 4));
    assertThat(acknowledgements.unknown()).isZero();
  }

  @Test
  void aRecordWithoutAnOffsetIsOfUnknownOutcome() {
    acknowledgements.add(metadata(-1));
    acknowledgements.commit(metadata(-1));
    acknowledgements.addUnknown();
    assertThat(acknowledgements.committed()).isEmpty();
    assertThat(acknowledgements.unknown()).isEqualTo(2);
  }

  private static RecordMetadata metadata(long offset) {
    return new RecordMetadata(PARTITION, offset, 0, 0, 1, 1);
  }
}
