package io.ordertimeout.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PostmasterPidTest {
  @TempDir private Path directory;

  @Test
  void missingFileMeansNoServer() throws IOException {
    assertThat(PostmasterPid.read(directory)).isEmpty();
  }

  @Test
  void readsProcessIdAndStartTime() throws IOException {
    write("4711\n/data\n1750000000\n5432\n\n127.0.0.1\n  123 456\nready\n");
    assertThat(PostmasterPid.read(directory))
        .contains(new PostmasterPid(4711, Instant.ofEpochSecond(1_750_000_000)));
  }

  @Test
  void showsTheContentsOfATruncatedFile() throws IOException {
    write("4711\n");
    assertThatThrownBy(() -> PostmasterPid.read(directory))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("[4711]");
  }

  @Test
  void recognisesARecycledProcessId() {
    long own = ProcessHandle.current().pid();
    assertThat(new PostmasterPid(own, Instant.EPOCH).state())
        .isEqualTo(PostmasterPid.State.RECYCLED);
  }

  @Test
  void recognisesAnEndedProcess() throws Exception {
    Process process =
        new ProcessBuilder(ProcessHandle.current().info().command().orElseThrow(), "-version")
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
    process.waitFor();
    assertThat(new PostmasterPid(process.pid(), Instant.now()).state())
        .isEqualTo(PostmasterPid.State.GONE);
  }

  private void write(String content) throws IOException {
    Files.writeString(directory.resolve(PostmasterPid.FILE), content);
  }
}
