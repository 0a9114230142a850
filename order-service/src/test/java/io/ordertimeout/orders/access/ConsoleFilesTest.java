package io.ordertimeout.orders.access;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What the console's files have to be for their server. */
class ConsoleFilesTest {

  private static final Path STATIC = Path.of("src/main/resources/static");

  /** Addresses that begin at the root of the host: of attributes, style sheets and scripts. */
  private static final Pattern ABSOLUTE =
      Pattern.compile(
          "\\b(href|src|action|from|import|fetch|url|EventSource|open|assign)\\s*[=:(]?\\s*"
              + "[\"'`]?/(?![/*]).*");

  private static final Pattern INLINE_SCRIPT = Pattern.compile("(?s)<script>(.*?)</script>");

  @Test
  void addressesAreRelativeBecauseTheServiceMayBeBelowAPath() throws IOException {
    for (Path file : files()) {
      assertThat(matches(ABSOLUTE, file)).as(file.toString()).isEmpty();
    }
  }

  @Test
  void requestsAreSentByTheClientAloneWhichMakesTheirPathsRelative() throws IOException {
    for (Path file : files()) {
      assertThat(matches(Pattern.compile("\\b(fetch|EventSource|XMLHttpRequest)\\(.*"), file))
          .as(file.toString())
          .allMatch(call -> call.startsWith("fetch(serviceUrl("));
    }
  }

  @Test
  void theContentPolicyPermitsTheInlineScript() throws IOException, GeneralSecurityException {
    List<String> scripts = matches(INLINE_SCRIPT, STATIC.resolve("index.html"));

    assertThat(scripts).hasSize(1);
    String script = scripts.get(0).replaceAll("</?script>", "");
    byte[] hash =
        MessageDigest.getInstance("SHA-256").digest(script.getBytes(StandardCharsets.UTF_8));
    assertThat(AccessConfiguration.CONTENT_POLICY)
        .contains("'sha256-" + Base64.getEncoder().encodeToString(hash) + "'");
  }

  private static List<Path> files() throws IOException {
    try (Stream<Path> console = Files.walk(STATIC.resolve("console"))) {
      return Stream.concat(
              Stream.of(STATIC.resolve("index.html")),
              console.filter(file -> file.toString().matches(".*\\.(js|css)")))
          .toList();
    }
  }

  private static List<String> matches(Pattern pattern, Path file) throws IOException {
    return pattern.matcher(Files.readString(file)).results().map(MatchResult::group).toList();
  }
}
