package io.ordertimeout.it.support;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Reads YAML files and rejects duplicate keys. */
public final class StrictYaml {

  private StrictYaml() {}

  /** The only document of a file. */
  public static JsonNode read(Path file) {
    try {
      return documents(Files.readString(file)).get(0);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The documents of a text, without empty ones. */
  public static List<JsonNode> documents(String text) {
    LoaderOptions strict = new LoaderOptions();
    strict.setAllowDuplicateKeys(false);
    List<JsonNode> documents = new ArrayList<>();
    for (Object document : new Yaml(new SafeConstructor(strict)).loadAll(text)) {
      if (document != null) {
        documents.add(JsonMapper.shared().valueToTree(document));
      }
    }
    return documents;
  }
}
