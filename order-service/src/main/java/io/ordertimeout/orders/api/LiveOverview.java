package io.ordertimeout.orders.api;

import io.ordertimeout.orders.operator.status.Overview;
import io.ordertimeout.orders.platform.loop.PeriodicTasks;
import java.io.IOException;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.context.event.EventListener;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.stereotype.Component;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;
import tools.jackson.databind.json.JsonMapper;

/**
 * A stream of the overview, sent to all subscribers every second. The overview is built once for
 * all of them, and not at all while there are none. A subscriber that is still receiving one
 * overview skips the next. Thread-safe.
 */
@Component
class LiveOverview {

  private static final Logger log = LoggerFactory.getLogger(LiveOverview.class);

  /** After this time a subscriber has to reconnect and is authenticated again. */
  private static final Duration MAX_DURATION = Duration.ofMinutes(5);

  private static final int MAX_SUBSCRIBERS = 200;
  private static final int MAX_OF_USER = 20;
  private static final int MAX_OF_ADDRESS = 20;

  private static final class Subscriber {
    final SseEmitter emitter = new SseEmitter(MAX_DURATION.toMillis());
    final AtomicBoolean receiving = new AtomicBoolean();
    final String user;
    final String address;

    Subscriber(String user, String address) {
      this.user = user;
      this.address = address;
    }
  }

  private final Overview overview;
  private final JsonMapper json;
  private final Executor senders;
  private final Set<Subscriber> subscribers = ConcurrentHashMap.newKeySet();
  private volatile boolean closing;

  LiveOverview(
      Overview overview,
      JsonMapper json,
      @Qualifier("applicationTaskExecutor") Executor senders,
      PeriodicTasks tasks) {
    this.overview = overview;
    this.json = json;
    this.senders = senders;
    tasks.repeat(
        "live-overview",
        Duration.ofSeconds(1),
        "subscribers of the overview get none this second",
        this::broadcast);
  }

  /**
   * Adds a subscriber.
   *
   * @param user the name of the user
   * @param address the address of the client
   */
  SseEmitter subscribe(String user, String address) {
    Subscriber subscriber = new Subscriber(user, ClientAddress.group(address));
    subscriber.emitter.onCompletion(() -> subscribers.remove(subscriber));
    subscriber.emitter.onTimeout(subscriber.emitter::complete);
    subscriber.emitter.onError(failure -> subscribers.remove(subscriber));
    add(subscriber);
    if (closing) {
      subscriber.emitter.complete();
    }
    return subscriber.emitter;
  }

  private synchronized void add(Subscriber subscriber) {
    if (subscribers.size() >= MAX_SUBSCRIBERS) {
      throw limit(HttpStatus.SERVICE_UNAVAILABLE, MAX_SUBSCRIBERS, "");
    }
    if (count(other -> other.user.equals(subscriber.user)) >= MAX_OF_USER) {
      throw limit(HttpStatus.TOO_MANY_REQUESTS, MAX_OF_USER, " of " + subscriber.user);
    }
    if (count(other -> other.address.equals(subscriber.address)) >= MAX_OF_ADDRESS) {
      throw limit(HttpStatus.TOO_MANY_REQUESTS, MAX_OF_ADDRESS, " of " + subscriber.address);
    }
    subscribers.add(subscriber);
  }

  private long count(Predicate<Subscriber> condition) {
    return subscribers.stream().filter(condition).count();
  }

  private static ResponseStatusException limit(HttpStatus status, int max, String whose) {
    return new ResponseStatusException(
        status,
        "all " + max + " subscriptions" + whose + " are in use; poll /api/v1/overview instead");
  }

  /** Completes all subscriptions, because a graceful shutdown waits for every open request. */
  @EventListener(ContextClosedEvent.class)
  void close() {
    closing = true;
    subscribers.forEach(subscriber -> subscriber.emitter.complete());
  }

  private void broadcast() {
    if (subscribers.isEmpty()) {
      return;
    }
    String event;
    try {
      event = json.writeValueAsString(overview.now());
    } catch (RuntimeException e) {
      log.debug("The overview could not be built; subscribers get none this second", e);
      return;
    }
    for (Subscriber subscriber : subscribers) {
      if (subscriber.receiving.compareAndSet(false, true)) {
        senders.execute(() -> send(subscriber, event));
      }
    }
  }

  private void send(Subscriber subscriber, String event) {
    try {
      subscriber.emitter.send(
          SseEmitter.event().name("overview").data(event, MediaType.TEXT_PLAIN));
    } catch (IOException | IllegalStateException e) {
      // The client has disconnected; the container completes the request.
      subscribers.remove(subscriber);
    } finally {
      subscriber.receiving.set(false);
    }
  }
}
