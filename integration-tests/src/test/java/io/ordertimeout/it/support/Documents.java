package io.ordertimeout.it.support;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/** What the documents tell their readers to use. */
public final class Documents {

  /** The folder of the service's documents. */
  public static final Path FOLDER =
      Path.of("..", "order-service", "docs").toAbsolutePath().normalize();

  private Documents() {}

  /** Returns the only block of code in that language in a document. */
  public static String code(String document, String language) {
    try {
      List<String> blocks =
          Pattern.compile("(?ms)^```" + Pattern.quote(language) + "\n(.*?)^```$")
              .matcher(Files.readString(FOLDER.resolve(document)))
              .results()
              .map((MatchResult block) -> block.group(1))
              .toList();
      if (blocks.size() != 1) {
        throw new IllegalStateException(
            document + " has " + blocks.size() + " blocks of " + language);
      }
      return blocks.get(0);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
