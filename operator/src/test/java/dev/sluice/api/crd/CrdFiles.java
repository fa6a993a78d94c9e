package dev.sluice.api.crd;

import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The files of the directory {@code crds}. */
public final class CrdFiles {

  private static final Path DIRECTORY =
      Path.of(System.getProperty("sluice.project.directory", "."), "crds");

  private final Map<String, String> files = new TreeMap<>();

  /** Reads the files. */
  public CrdFiles() {
    try (var paths = Files.newDirectoryStream(DIRECTORY, "*.yaml")) {
      for (Path path : paths) {
        files.put(path.getFileName().toString(), Files.readString(path));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The text of each file by its name. */
  public Map<String, String> all() {
    return files;
  }

  /** The definitions, each a new tree that may be changed. */
  public List<ObjectNode> definitions() {
    YAMLMapper yaml = new YAMLMapper();
    return files.values().stream()
        .map(
            text -> {
              try {
                return (ObjectNode) yaml.readTree(text);
              } catch (IOException e) {
                throw new UncheckedIOException(e);
              }
            })
        .toList();
  }
}
