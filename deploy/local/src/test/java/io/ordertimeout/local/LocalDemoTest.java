package io.ordertimeout.local;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The demo as a process, with all its parts. */
class LocalDemoTest {

  private static final Pattern CANCELLED = Pattern.compile("created .* cancelled [1-9].*");

  @TempDir private Path directory;

  /** Turkish has other capitals than English, and Arabic other digits. */
  @Test
  @Timeout(value = 5, unit = TimeUnit.MINUTES)
  void runsInEveryLanguage() throws Exception {
    Process demo = start("-Duser.language=tr", "-Duser.extensions=u-nu-arab");
    try {
      List<String> output = outputUntilAnOrderIsCancelled(demo);

      assertThat(output).anyMatch(line -> line.matches(" *console +http://localhost:[0-9]+ .*"));
      assertThat(output).last().asString().matches(CANCELLED);
    } finally {
      demo.destroy();
      demo.waitFor();
    }
  }

  private Process start(String... locale) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(ProcessHandle.current().info().command().orElseThrow());
    command.addAll(List.of(locale));
    command.addAll(
        List.of(
            "-XX:TieredStopAtLevel=1",
            "-Xmx512m",
            "-cp",
            System.getProperty("java.class.path"),
            LocalDemo.class.getName(),
            "--local.data-directory=" + directory.resolve("data"),
            "--local.kafka-port=0",
            "--local.postgres-port=0",
            "--local.service-port=0",
            "--local.management-port=0",
            "--local.report-interval=500ms",
            "--local.traffic.timeout-min=1s",
            "--local.traffic.timeout-max=2s"));
    return new ProcessBuilder(command).redirectErrorStream(true).start();
  }

  /** Returns all output if the demo ends before. */
  private static List<String> outputUntilAnOrderIsCancelled(Process demo) throws IOException {
    List<String> lines = new ArrayList<>();
    BufferedReader reader = demo.inputReader(StandardCharsets.UTF_8);
    String line = reader.readLine();
    while (line != null) {
      lines.add(line);
      if (CANCELLED.matcher(line).matches()) {
        break;
      }
      line = reader.readLine();
    }
    return lines;
  }
}
