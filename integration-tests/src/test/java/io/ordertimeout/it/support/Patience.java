package io.ordertimeout.it.support;

import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestPlan;

/**
 * How long tests wait for what has to happen: several times as long as a busy machine takes. A test
 * that has to wait longer says so, and why.
 */
public final class Patience implements TestExecutionListener {

  private static final Duration USUAL = Duration.ofMinutes(2);

  @Override
  public void testPlanExecutionStarted(TestPlan plan) {
    Awaitility.setDefaultTimeout(USUAL);
  }
}
