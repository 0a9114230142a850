package io.ordertimeout.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PostmasterTest {
  @TempDir private Path directory;

  @Test
  void noFileNoServer() throws IOException {
    assertThat(Postmaster.of(directory)).isEmpty();
  }

  @Test
  void readsProcessAndStart() throws IOException {
    write("4711\n/data\n1750000000\n5432\n\n127.0.0.1\n  123 456\nready\n");
    assertThat(Postmaster.of(directory))
        .contains(new Postmaster(4711, Instant.ofEpochSecond(1_750_000_000)));
  }

  @Test
  void halfAFileIsAnErrorThatShowsIt() throws IOException {
    write("4711\n");
    assertThatThrownBy(() -> Postmaster.of(directory))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("[4711]");
  }

  @Test
  void anotherProgramUnderTheSameIdIsNoOrphan() {
    long own = ProcessHandle.current().pid();
    assertThat(new Postmaster(own, Instant.EPOCH).state()).isEqualTo(Postmaster.State.RECYCLED);
  }

  @Test
  void endedProcessIsGone() throws Exception {
    Process process =
        new ProcessBuilder(ProcessHandle.current().info().command().orElseThrow(), "-version")
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
    process.waitFor();
    assertThat(new Postmaster(process.pid(), Instant.now()).state())
        .isEqualTo(Postmaster.State.GONE);
  }

  private void write(String content) throws IOException {
    Files.writeString(directory.resolve(Postmaster.FILE), content);
  }
}
