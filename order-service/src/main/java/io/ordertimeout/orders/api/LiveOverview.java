package io.ordertimeout.orders.api;

import io.ordertimeout.orders.operator.status.Overview;
import java.io.IOException;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.context.event.EventListener;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;
import tools.jackson.databind.json.JsonMapper;

/**
 * Sends the overview to all who watch, every second; put together once for all of them, and not at
 * all while nobody watches. A watcher that takes longer to take one misses the next. Thread-safe.
 */
@Component
class LiveOverview {

  private static final Logger log = LoggerFactory.getLogger(LiveOverview.class);

  /** After which a watcher has to ask anew, and show again who it is. */
  private static final Duration LONGEST = Duration.ofMinutes(5);

  private static final int MOST_WATCHERS = 100;

  /** One who watches. */
  private static final class Watcher {
    final SseEmitter emitter = new SseEmitter(LONGEST.toMillis());
    final AtomicBoolean busy = new AtomicBoolean();
  }

  private final Overview overview;
  private final JsonMapper json;
  private final Executor senders;
  private final Set<Watcher> watchers = ConcurrentHashMap.newKeySet();
  private volatile boolean ending;

  LiveOverview(
      Overview overview, JsonMapper json, @Qualifier("applicationTaskExecutor") Executor senders) {
    this.overview = overview;
    this.json = json;
    this.senders = senders;
  }

  SseEmitter subscribe() {
    if (watchers.size() >= MOST_WATCHERS) {
      throw new ResponseStatusException(
          HttpStatus.SERVICE_UNAVAILABLE, MOST_WATCHERS + " watch already; ask /api/overview");
    }
    Watcher watcher = new Watcher();
    watcher.emitter.onCompletion(() -> watchers.remove(watcher));
    watcher.emitter.onTimeout(watcher.emitter::complete);
    watcher.emitter.onError(failure -> watchers.remove(watcher));
    watchers.add(watcher);
    if (ending) {
      watcher.emitter.complete();
    }
    return watcher.emitter;
  }

  /** Sends all away, since a graceful end waits for every request that is not answered. */
  @EventListener(ContextClosedEvent.class)
  void end() {
    ending = true;
    watchers.forEach(watcher -> watcher.emitter.complete());
  }

  @Scheduled(fixedRate = 1, timeUnit = TimeUnit.SECONDS)
  void tell() {
    if (watchers.isEmpty()) {
      return;
    }
    String now;
    try {
      now = json.writeValueAsString(overview.now());
    } catch (RuntimeException e) {
      log.debug("Nothing to tell those who watch", e);
      return;
    }
    for (Watcher watcher : watchers) {
      if (watcher.busy.compareAndSet(false, true)) {
        senders.execute(() -> send(watcher, now));
      }
    }
  }

  private void send(Watcher watcher, String now) {
    try {
      watcher.emitter.send(SseEmitter.event().name("overview").data(now, MediaType.TEXT_PLAIN));
    } catch (IOException | IllegalStateException e) {
      // Gone. The container ends the rest.
      watchers.remove(watcher);
    } finally {
      watcher.busy.set(false);
    }
  }
}
