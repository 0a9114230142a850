package io.ordertimeout.it.support;

import java.util.Optional;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.TestSource;
import org.junit.platform.engine.support.descriptor.ClassSource;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;

/** Prints the names of the log files of tests that fail. */
public final class FailureLogs implements TestExecutionListener {

  @Override
  public void executionFinished(TestIdentifier test, TestExecutionResult result) {
    if (result.getStatus() == TestExecutionResult.Status.FAILED) {
      test.getSource()
          .flatMap(FailureLogs::testClass)
          .ifPresent(
              testClass ->
                  System.out.printf(
                      "%s of %s failed. Logs: %s, and of its processes %s%n",
                      test.getDisplayName(),
                      testClass,
                      LogOwnership.file(testClass),
                      ChildProcess.log(Scenario.namePrefix(testClass) + "*")));
    }
  }

  private static Optional<String> testClass(TestSource source) {
    String name = null;
    if (source instanceof MethodSource method) {
      name = method.getClassName();
    } else if (source instanceof ClassSource testClass) {
      name = testClass.getClassName();
    }
    return Optional.ofNullable(name).map(full -> full.substring(full.lastIndexOf('.') + 1));
  }
}
