package io.ordertimeout.orders.intake;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.ordertimeout.orders.OrderTimeoutProperties;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Repository;

/**
 * The generations of the consumer group. When the coordinator of a group does not work, the fleet
 * moves to the next generation, whose group id most likely has another coordinator. Postgres keeps
 * the current generation, so that all instances agree. Positions are in Postgres too, so reading
 * continues where the former group stopped. Thread-safe.
 */
@Repository
public class GroupGenerations {

  private static final Logger log = LoggerFactory.getLogger(GroupGenerations.class);

  /** Each generation that never worked doubles the time until the next one, at most six times. */
  private static final int MAX_DOUBLINGS = 6;

  private static final String REGISTER =
      "insert into consumer_group_generation (group_id) values (:group) on conflict do nothing";

  private static final String FIND =
      "select generation from consumer_group_generation where group_id = :group";

  /** SQL query of a text that changes whenever the result of {@link #current} does. */
  static final String FINGERPRINT =
      """
      select string_agg(g.group_id || ' ' || g.generation, ',' order by g.group_id)
      from consumer_group_generation g
      """;

  private static final String WORKED =
      """
      update consumer_group_generation set worked_at = clock_timestamp(), failed_in_a_row = 0
      where group_id = :group and generation = :generation
      """;

  private static final String HAS_WORKED =
      """
      select exists (
        select from consumer_group_generation
        where group_id = :group and generation = :generation
          and worked_at >= clock_timestamp() - :duration::interval)
      """;

  private static final String ADVANCE =
      """
      update consumer_group_generation set
        generation = generation + 1,
        began_at = clock_timestamp(),
        worked_at = null,
        failed_in_a_row = case when worked_at is null then failed_in_a_row + 1 else 0 end
      where group_id = :group and generation = :generation
      """;

  private static final String AND_UNUSABLE =
      """
        and greatest(began_at, worked_at)
          < clock_timestamp() - :timeout::interval * power(2, least(failed_in_a_row, %d))
      """
          .formatted(MAX_DOUBLINGS);

  /**
   * A generation of the group.
   *
   * @param number its number, from 1
   * @param groupId the group id that its members use
   */
  public record Generation(int number, String groupId) {}

  private final JdbcClient client;
  private final String baseId;
  private volatile int last;

  GroupGenerations(JdbcClient client, OrderTimeoutProperties properties, MeterRegistry meters) {
    this.client = client;
    this.baseId = properties.intake().groupId();
    Gauge.builder("order.timeout.group.generation", this, generations -> generations.last)
        .description("Generation of the consumer group that this instance uses; 0 before it joins")
        .register(meters);
  }

  /** Reads the current generation from Postgres. */
  public Generation current() {
    int number =
        client
            .sql(FIND)
            .param("group", baseId)
            .query(Integer.class)
            .optional()
            .orElseGet(this::register);
    last = number;
    return generation(number);
  }

  private int register() {
    client.sql(REGISTER).param("group", baseId).update();
    return client.sql(FIND).param("group", baseId).query(Integer.class).single();
  }

  /** Records that an instance finds the group working, which keeps the others from leaving it. */
  void recordHealthy(int generation) {
    client.sql(WORKED).param("group", baseId).param("generation", generation).update();
  }

  /** Whether an instance has found the group working within that time. */
  boolean hasWorkedWithin(int generation, Duration duration) {
    return client
        .sql(HAS_WORKED)
        .param("group", baseId)
        .param("generation", generation)
        .param("duration", duration.toString())
        .query(Boolean.class)
        .single();
  }

  /**
   * Moves the fleet to the next generation, unless somebody else has or the group has worked for
   * any instance within the time-out. The time-out doubles with every generation that never worked.
   *
   * @return whether this call moved the fleet
   */
  boolean advanceIfUnusable(int generation, Duration timeout) {
    return client
            .sql(ADVANCE + AND_UNUSABLE)
            .param("group", baseId)
            .param("generation", generation)
            .param("timeout", timeout.toString())
            .update()
        > 0;
  }

  /**
   * Moves the fleet to the next generation, unless it has left the given one already.
   *
   * @return whether this call moved the fleet
   */
  public boolean advance(int generation) {
    boolean advanced =
        client.sql(ADVANCE).param("group", baseId).param("generation", generation).update() > 0;
    if (advanced) {
      log.warn("An operator moved the fleet to generation {} of its group", generation + 1);
    }
    return advanced;
  }

  /** The generation of that number. */
  public Generation generation(int number) {
    return new Generation(number, number == 1 ? baseId : baseId + ".g" + number);
  }
}
