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
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/**
 * The image that {@code tools/image/build} makes without a daemon, from what {@code mvn package}
 * made: its parts, and the program run in its root filesystem.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag(BuildBreadth.NIGHTLY)
class ImageIT {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String REVISION = "0123456789abcdef0123456789abcdef01234567";
  private static final String STATEMENT = "application/vnd.in-toto+json";
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
    image = made(directory, "image", "--without-cache");
  }

  private static Path made(Path directory, String name, String... options) throws Exception {
    Path image = directory.resolve(name);
    List<String> command = new ArrayList<>();
    command.add(Path.of("tools/image/build").toAbsolutePath().toString());
    command.addAll(List.of(options));
    command.addAll(List.of(image.toString(), REVISION));
    String told = run(directory, command);
    assertThat(told).contains("sluice:", "sha256:").doesNotContain("failed: ");
    return image;
  }

  @Test
  void theProgramRunsInTheRootFilesystem() throws Exception {
    assertThat(version(image)).matches("sluice [0-9]+\\.[0-9]+\\.[0-9]+(-SNAPSHOT)?\\n");
  }

  /** What the entry point of an image prints when it is asked for its version. */
  private static String version(Path image, String... options) throws Exception {
    List<String> entry = new ArrayList<>(strings(configuration(image).at("/config/Entrypoint")));
    entry.addAll(entry.indexOf("-cp"), List.of(options));
    entry.add("--version");
    String command = entry.stream().map(each -> "'" + each + "'").collect(Collectors.joining(" "));
    return run(
        image,
        List.of(
            "unshare",
            "-r",
            "-m",
            "-p",
            "-f",
            "sh",
            "-c",
            "mount -t proc proc rootfs/proc && exec chroot rootfs " + command));
  }

  @Test
  void theSameInputsMakeTheSameBytes(@TempDir Path directory) throws Exception {
    Path again = made(directory, "again", "--without-cache");

    assertThat(files(again.resolve("layout")))
        .hasSizeGreaterThan(8)
        .isEqualTo(files(image.resolve("layout")));
    assertThat(again.resolve("provenance.json"))
        .hasSameBinaryContentAs(image.resolve("provenance.json"));
  }

  private static Map<String, String> files(Path directory) throws Exception {
    Map<String, String> digests = new TreeMap<>();
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        digests.put(directory.relativize(file).toString(), sha256(Files.readAllBytes(file)));
      }
    }
    return digests;
  }

  /**
   * The Java machine ends when it may only run with the cache and can't use it. It takes a minute:
   * an operator runs through some Jobs for it.
   */
  @Test
  void theAheadOfTimeCacheIsALayerOfItsOwnAndIsUsed(@TempDir Path directory) throws Exception {
    Path cached = made(directory, "cached");

    JsonNode layers = manifest(cached).path("layers");
    assertThat(layers).hasSize(2);
    assertThat(layers.path(0))
        .as("the same as without a cache")
        .isEqualTo(manifest(image).path("layers").path(0));
    blobOf(cached, layers.path(1));
    assertThat(version(cached, "-XX:AOTMode=on")).startsWith("sluice ");
    assertThat(version(image, "-XX:AOTMode=on")).as("there is none").startsWith("failed: ");
  }

  @Test
  void theProvenanceNamesTheImageAndWhatItWasMadeOf() throws Exception {
    JsonNode subject = index(image).path("manifests").path(0);
    JsonNode statement = JSON.readTree(attached(STATEMENT));

    assertThat(attached(STATEMENT)).isEqualTo(Files.readAllBytes(image.resolve("provenance.json")));
    assertThat(statement.path("_type").asText()).isEqualTo("https://in-toto.io/Statement/v1");
    assertThat(statement.path("predicateType").asText())
        .isEqualTo("https://slsa.dev/provenance/v1");
    assertThat("sha256:" + statement.at("/subject/0/digest/sha256").asText())
        .isEqualTo(subject.path("digest").asText());
    JsonNode definition = statement.at("/predicate/buildDefinition");
    assertThat(definition.path("buildType").asText()).startsWith("https://");
    assertThat(statement.at("/predicate/runDetails/builder/id").asText()).startsWith("https://");
    assertThat(definition.at("/externalParameters/revision").asText()).isEqualTo(REVISION);
    Map<String, String> materials = new TreeMap<>();
    for (JsonNode each : definition.path("resolvedDependencies")) {
      materials.put(
          each.path("name").asText(),
          each.path("digest").properties().iterator().next().toString());
    }
    assertThat(materials).containsEntry("source", "gitCommit=\"" + REVISION + "\"");
    assertThat(materials).containsKey("jdk/lib/modules");
    try (Stream<Path> libraries = Files.list(image.resolve("rootfs/opt/sluice/lib"))) {
      for (Path library : libraries.toList()) {
        assertThat(materials)
            .containsEntry(
                "lib/" + library.getFileName(),
                "sha256=\"" + sha256(Files.readAllBytes(library)) + "\"");
      }
    }
  }

  @Test
  void theBillOfMaterialsIsAttachedToTheImage() throws Exception {
    assertThat(attached("application/vnd.cyclonedx+json"))
        .isEqualTo(Files.readAllBytes(image.resolve("rootfs/opt/sluice/sluice-sbom.json")));
  }

  /** The content of what is attached to the image with this type. */
  private byte[] attached(String type) throws Exception {
    JsonNode subject = index(image).path("manifests").path(0);
    for (JsonNode descriptor : index(image).path("manifests")) {
      if (descriptor.path("artifactType").asText().equals(type)) {
        JsonNode manifest = JSON.readTree(blobOf(image, descriptor));
        assertThat(manifest.path("artifactType").asText()).isEqualTo(type);
        assertThat(manifest.at("/subject/digest")).isEqualTo(subject.path("digest"));
        assertThat(new String(blobOf(image, manifest.path("config")), StandardCharsets.UTF_8))
            .isEqualTo("{}");
        return blobOf(image, manifest.path("layers").path(0));
      }
    }
    throw new AssertionError("nothing of type " + type + " is attached");
  }

  @Test
  void eachFileOfTheLayoutIsNamedByItsDigest() throws Exception {
    JsonNode index = index(image);
    JsonNode manifest = manifest(image);
    JsonNode configuration = configuration(image);

    assertThat(manifest.path("layers")).hasSize(1);
    blobOf(image, manifest.path("layers").path(0));
    assertThat(configuration.at("/config/User").asText()).isEqualTo("65532:65532");
    assertThat(configuration.at("/config/Cmd/0").asText()).isEqualTo("operator");
    assertThat(configuration.at("/rootfs/diff_ids")).hasSize(1);
    JsonNode labels = configuration.at("/config/Labels");
    assertThat(labels.path("org.opencontainers.image.title").asText()).isEqualTo("Sluice");
    assertThat(labels.path("org.opencontainers.image.revision").asText()).isEqualTo(REVISION);
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

  private static JsonNode index(Path image) throws IOException {
    return JSON.readTree(image.resolve("layout/index.json").toFile());
  }

  private static JsonNode manifest(Path image) throws Exception {
    return JSON.readTree(blobOf(image, index(image).path("manifests").path(0)));
  }

  private static JsonNode configuration(Path image) throws Exception {
    return JSON.readTree(blobOf(image, manifest(image).path("config")));
  }

  private static byte[] blobOf(Path image, JsonNode descriptor) throws Exception {
    String digest = descriptor.path("digest").asText().replace("sha256:", "");
    byte[] content = Files.readAllBytes(image.resolve("layout/blobs/sha256").resolve(digest));
    assertThat(sha256(content)).isEqualTo(digest);
    assertThat(content.length).isEqualTo(descriptor.path("size").asInt());
    return content;
  }

  private static String sha256(byte[] content) throws GeneralSecurityException {
    return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(content));
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
                "6"));
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
