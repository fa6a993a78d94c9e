package dev.sluice.api.crd;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class CrdFilesTest {

  private static final Path DIRECTORY = Path.of("crds");

  @Test
  void theCommittedDefinitionsAreThoseOfTheTypes() throws IOException {
    Map<String, String> generated = new CrdFiles().all();
    if (Boolean.getBoolean("sluice.crds.write")) {
      write(generated);
    }

    assertThat(committed())
        .as(
            "files of the directory crds; renew: mvn test -Dtest=CrdFilesTest -Dsluice.crds.write=true")
        .isEqualTo(generated);
  }

  private static void write(Map<String, String> files) throws IOException {
    Files.createDirectories(DIRECTORY);
    for (var file : files.entrySet()) {
      Files.writeString(DIRECTORY.resolve(file.getKey()), file.getValue());
    }
  }

  private static Map<String, String> committed() throws IOException {
    Map<String, String> files = new TreeMap<>();
    try (var paths = Files.newDirectoryStream(DIRECTORY, "*.yaml")) {
      for (Path path : paths) {
        files.put(path.getFileName().toString(), Files.readString(path));
      }
    }
    return files;
  }
}
