package dev.sluice.install;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.testing.BuildBreadth;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/**
 * The image that {@code tools/image/build} makes without a daemon, from what {@code mvn package}
 * made: its parts, and the program run in its root filesystem.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ImageIT {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Path TARGET =
      Path.of(System.getProperty("sluice.image.target", "target")).toAbsolutePath();

  @SuppressWarnings("NullAway.Init") // set before all tests
  private Path image;

  @BeforeAll
  void build(@TempDir Path directory) throws Exception {
    assumeThat(TARGET.resolve("sluice.jar")).as("what mvn package makes").exists();
    assumeThat(run(directory, List.of("unshare", "-r", "-m", "-p", "-f", "chroot", "/", "true")))
        .as("not allowed to change the root directory here")
        .isEmpty();
    image = directory.resolve("image");
    String told =
        run(
            directory,
            List.of(
                Path.of("tools/image/build").toAbsolutePath().toString(),
                image.toString(),
                "0123456789abcdef"));
    assertThat(told).startsWith("sluice:").contains("sha256:");
  }

  @Test
  void theProgramRunsInTheRootFilesystem() throws Exception {
    String command =
        String.join(
            " ",
            strings(configuration().at("/config/Entrypoint")).stream()
                .map(each -> "'" + each + "'")
                .toList());
    String version =
        run(
            image,
            List.of(
                "unshare",
                "-r",
                "-m",
                "-p",
                "-f",
                "sh",
                "-c",
                "mount -t proc proc rootfs/proc && exec chroot rootfs " + command + " --version"));

    assertThat(version).matches("sluice [0-9]+\\.[0-9]+\\.[0-9]+(-SNAPSHOT)?\\n");
  }

  @Test
  void eachFileOfTheLayoutIsNamedByItsDigest() throws Exception {
    JsonNode index = JSON.readTree(image.resolve("layout/index.json").toFile());
    JsonNode manifest = blob(index.path("manifests").path(0));
    JsonNode configuration = blob(manifest.path("config"));

    assertThat(manifest.path("layers")).hasSize(1);
    blobOf(manifest.path("layers").path(0));
    assertThat(configuration.at("/config/User").asText()).isEqualTo("65532:65532");
    assertThat(configuration.at("/config/Cmd/0").asText()).isEqualTo("operator");
    assertThat(configuration.at("/rootfs/diff_ids")).hasSize(1);
    JsonNode labels = configuration.at("/config/Labels");
    assertThat(labels.path("org.opencontainers.image.title").asText()).isEqualTo("Sluice");
    assertThat(labels.path("org.opencontainers.image.revision").asText())
        .isEqualTo("0123456789abcdef");
    assertThat(labels.path("org.opencontainers.image.version").asText())
        .isEqualTo(
            index.at("/manifests/0/annotations").path("org.opencontainers.image.ref.name").asText())
        .isNotEmpty();
  }

  @Test
  void theBillOfMaterialsNamesEachLibrary() throws Exception {
    JsonNode bill = JSON.readTree(image.resolve("rootfs/opt/sluice/sluice-sbom.json").toFile());

    assertThat(bill.path("bomFormat").asText()).isEqualTo("CycloneDX");
    List<String> jars =
        bill.findValuesAsText("purl").stream()
            .map(purl -> purl.replaceFirst("pkg:maven/[^/]+/", "").replaceFirst("\\?.*", ""))
            .map(each -> each.replace('@', '-') + ".jar")
            .toList();
    try (var libraries = Files.list(image.resolve("rootfs/opt/sluice/lib"))) {
      assertThat(libraries.map(each -> each.getFileName().toString()))
          .isNotEmpty()
          .filteredOn(name -> !name.contains("linux") && !name.contains("osx"))
          .allSatisfy(name -> assertThat(jars).contains(name));
    }
  }

  private JsonNode configuration() throws Exception {
    JsonNode index = JSON.readTree(image.resolve("layout/index.json").toFile());
    return blob(blob(index.path("manifests").path(0)).path("config"));
  }

  private JsonNode blob(JsonNode descriptor) throws Exception {
    return JSON.readTree(blobOf(descriptor));
  }

  private byte[] blobOf(JsonNode descriptor) throws Exception {
    String digest = descriptor.path("digest").asText().replace("sha256:", "");
    byte[] content = Files.readAllBytes(image.resolve("layout/blobs/sha256").resolve(digest));
    assertThat(HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(content)))
        .isEqualTo(digest);
    assertThat(content.length).isEqualTo(descriptor.path("size").asInt());
    return content;
  }

  private static List<String> strings(JsonNode list) {
    return list.valueStream().map(JsonNode::asText).toList();
  }

  /** What a program prints to both its streams; it must end with 0. */
  private static String run(Path directory, List<String> command)
      throws IOException, InterruptedException {
    Path output = Files.createTempFile(directory, "output", ".txt");
    ProcessBuilder builder = new ProcessBuilder(command).directory(directory.toFile());
    builder
        .environment()
        .putAll(
            Map.of(
                "JAVA_HOME",
                System.getProperty("java.home"),
                "SLUICE_TARGET",
                TARGET.toString(),
                "SLUICE_IMAGE_COMPRESSION",
                BuildBreadth.full() ? "6" : "1"));
    Process process;
    try {
      process = builder.redirectErrorStream(true).redirectOutput(output.toFile()).start();
    } catch (IOException notThere) {
      return notThere.toString();
    }
    boolean ended = process.waitFor(10, TimeUnit.MINUTES);
    String text = Files.readString(output, StandardCharsets.UTF_8);
    return ended && process.exitValue() == 0 ? text : "failed: " + text;
  }
}
