package io.ordertimeout.orders;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Whatever names the version of the project names that of the build, without {@code -SNAPSHOT}. */
class ReleaseVersionTest {

  private static final Path REPOSITORY = Path.of("..").toAbsolutePath().normalize();
  private static final String SNAPSHOT = "-SNAPSHOT";
  private static final Pattern BUILT =
      Pattern.compile("<artifactId>order-timeout</artifactId>\\s*<version>([^<]+)</version>");
  private static final Pattern FIRST_SECTION = Pattern.compile("(?m)^## (.+)$");

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "deploy/kubernetes/Chart.yaml ; (?:version|appVersion): (.+) ; 2",
        "deploy/kubernetes/README.md ; order-timeout:(\\S+) ; 3",
        ".github/workflows/ci.yml ; (?:order-timeout:|VERSION=)(\\S+) ; 3",
        "order-service/src/main/resources/static/contracts/asyncapi.json ; \"version\": \"(.+)\" ; 1",
        "order-service/src/main/resources/static/contracts/openapi.json ; (?m)^ {4}\"version\" : \"(.+)\" ; 1",
        "timeout-engine/README.md ; <version>(.+)</version> ; 1",
      })
  void namesTheVersionOfTheBuild(Path file, String pattern, int times) throws IOException {
    assertThat(
            Pattern.compile(pattern).matcher(read(file)).results().map(result -> result.group(1)))
        .hasSize(times)
        .containsOnly(builtVersion().replace(SNAPSHOT, ""));
  }

  @Test
  void theChangelogBeginsWithWhatTheBuildContains() throws IOException {
    String version = builtVersion();
    String first =
        FIRST_SECTION
            .matcher(read(Path.of("order-service/docs/changelog.md")))
            .results()
            .map(result -> result.group(1))
            .findFirst()
            .orElseThrow();

    if (version.endsWith(SNAPSHOT)) {
      assertThat(first).isEqualTo("Unreleased");
    } else {
      assertThat(first).matches(Pattern.quote(version) + ", \\d{4}-\\d{2}-\\d{2}");
    }
  }

  private static String builtVersion() throws IOException {
    return BUILT
        .matcher(read(Path.of("pom.xml")))
        .results()
        .map(result -> result.group(1))
        .findFirst()
        .orElseThrow();
  }

  private static String read(Path file) throws IOException {
    return Files.readString(REPOSITORY.resolve(file));
  }
}
