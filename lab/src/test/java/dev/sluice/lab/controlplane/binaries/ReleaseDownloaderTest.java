package dev.sluice.lab.controlplane.binaries;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import dev.sluice.lab.controlplane.binaries.DefaultBinarySources.Platform;
import dev.sluice.lab.controlplane.binaries.DefaultBinarySources.SourceFailedException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Releases are taken when their published checksum is right, and in no other case. */
class ReleaseDownloaderTest {

  private static final Platform LINUX = new Platform("linux", "amd64");
  private static final byte[] CONTENT = "a program".getBytes(StandardCharsets.UTF_8);

  @TempDir private Path directory = Path.of("");
  private final ModuleFiles modules = new ModuleFiles();
  private final Map<String, byte[]> published = new ConcurrentHashMap<>();
  private HttpServer server = start();

  @BeforeEach
  void setUp() {
    server.createContext(
        "/",
        exchange -> {
          byte[] body = published.get(exchange.getRequestURI().getPath());
          try (exchange) {
            exchange.sendResponseHeaders(body == null ? 404 : 200, body == null ? -1 : 0);
            if (body != null) {
              exchange.getResponseBody().write(body);
            }
          }
        });
    server.start();
  }

  @AfterEach
  void tearDown() {
    server.stop(0);
  }

  @Test
  void kubernetesIsTakenWithTheChecksumBesideEachProgram() throws Exception {
    publishKubernetes(checksum(CONTENT));

    maker(LINUX).make(Bundle.KUBERNETES, directory);

    assertThat(directory.resolve("kube-apiserver")).hasBinaryContent(CONTENT).isExecutable();
    assertThat(directory.resolve("kube-scheduler")).isExecutable();
  }

  @Test
  void aProgramWithAnotherChecksumIsRefused() throws Exception {
    publishKubernetes(checksum("another program".getBytes(StandardCharsets.UTF_8)));

    assertThatThrownBy(() -> maker(LINUX).make(Bundle.KUBERNETES, directory))
        .isInstanceOf(SourceFailedException.class)
        .hasMessageContaining("kube-apiserver has checksum " + checksum(CONTENT));
  }

  @Test
  void aChecksumThatIsNoneIsRefused() throws Exception {
    publishKubernetes("<html>moved</html>");

    assertThatThrownBy(() -> maker(LINUX).make(Bundle.KUBERNETES, directory))
        .isInstanceOf(SourceFailedException.class)
        .hasMessage("what is published as a checksum isn't a SHA-256");
  }

  @Test
  void etcdIsTakenOutOfItsArchive() throws Exception {
    publishEtcd(true);

    maker(LINUX).make(Bundle.ETCD, directory);

    assertThat(directory.resolve("etcd")).hasBinaryContent(CONTENT).isExecutable();
    assertThat(directory).isDirectoryNotContaining("glob:**.tar.gz");
  }

  @Test
  void anArchiveWithoutPublishedChecksumIsRefused() throws Exception {
    publishEtcd(false);

    assertThatThrownBy(() -> maker(LINUX).make(Bundle.ETCD, directory))
        .isInstanceOf(SourceFailedException.class)
        .hasMessage(
            "publishes no checksum of etcd-%s-linux-amd64.tar.gz"
                .formatted(modules.version(Bundle.ETCD)));
  }

  @Test
  void kwokIsTakenWhenTheReleaseTellsItsDigest() throws Exception {
    publishKwok("\"sha256:%s\"".formatted(checksum(CONTENT)));

    maker(LINUX).make(Bundle.KWOK, directory);

    assertThat(directory.resolve("kwok")).hasBinaryContent(CONTENT).isExecutable();
  }

  @Test
  void kwokIsRefusedWhenTheReleaseTellsNoDigest() {
    publishKwok("null");

    assertThatThrownBy(() -> maker(LINUX).make(Bundle.KWOK, directory))
        .isInstanceOf(SourceFailedException.class)
        .hasMessage("publishes no checksum of kwok-linux-amd64");
  }

  @Test
  void aSiteThatHasNoSuchFileIsNamed() {
    assertThatThrownBy(() -> maker(LINUX).make(Bundle.KUBERNETES, directory))
        .isInstanceOf(SourceFailedException.class)
        .hasMessageEndingWith("/kube-apiserver.sha256 answers 404");
  }

  @Test
  void aSiteThatCanNotBeReachedIsNamed() {
    server.stop(0);

    assertThatThrownBy(() -> maker(LINUX).make(Bundle.KUBERNETES, directory))
        .isInstanceOf(SourceFailedException.class)
        .hasMessageContaining("can't be reached");
  }

  @Test
  void otherSystemsThanLinuxHaveNoCompleteRelease() {
    assertThatThrownBy(() -> maker(Platform.of("Mac OS X", "aarch64")).make(Bundle.ETCD, directory))
        .isInstanceOf(SourceFailedException.class)
        .hasMessage("is used on linux only, this is darwin-arm64");
  }

  private void publishKubernetes(String checksum) {
    for (Program program : Bundle.KUBERNETES.programs()) {
      String path =
          "/kubernetes/release/%s/bin/linux/amd64/%s"
              .formatted(modules.version(Bundle.KUBERNETES), program.file());
      published.put(path, CONTENT);
      published.put(path + ".sha256", checksum.getBytes(StandardCharsets.UTF_8));
    }
  }

  private void publishEtcd(boolean withChecksum) throws Exception {
    String stem = "etcd-%s-linux-amd64".formatted(modules.version(Bundle.ETCD));
    String release =
        "/downloads/etcd-io/etcd/releases/download/%s/".formatted(modules.version(Bundle.ETCD));
    byte[] archive = archive(stem + "/README.md", stem + "/etcd");
    String sums = withChecksum ? checksum(archive) + "  " + stem + ".tar.gz\n" : "";
    published.put(release + stem + ".tar.gz", archive);
    published.put(release + "SHA256SUMS", sums.getBytes(StandardCharsets.UTF_8));
  }

  private void publishKwok(String digest) {
    String version = modules.version(Bundle.KWOK);
    published.put(
        "/api/repos/kubernetes-sigs/kwok/releases/tags/" + version,
        "{\"assets\": [{\"name\": \"kwok-linux-amd64\", \"digest\": %s}]}"
            .formatted(digest)
            .getBytes(StandardCharsets.UTF_8));
    published.put(
        "/downloads/kubernetes-sigs/kwok/releases/download/%s/kwok-linux-amd64".formatted(version),
        CONTENT);
  }

  /** An archive in which every file has the same content. */
  private static byte[] archive(String... files) throws Exception {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (GZIPOutputStream out = new GZIPOutputStream(bytes)) {
      for (String file : files) {
        byte[] header = new byte[512];
        put(header, 0, file);
        put(header, 124, "%011o".formatted(CONTENT.length));
        out.write(header);
        out.write(CONTENT);
        out.write(new byte[512 - CONTENT.length]);
      }
      out.write(new byte[1024]);
    }
    return bytes.toByteArray();
  }

  private static void put(byte[] target, int offset, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
    System.arraycopy(bytes, 0, target, offset, bytes.length);
  }

  private static String checksum(byte[] content) throws Exception {
    return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(content));
  }

  private ReleaseDownloader maker(Platform platform) {
    URI root = URI.create("http://127.0.0.1:%d/".formatted(server.getAddress().getPort()));
    ReleaseDownloader.Sites sites =
        new ReleaseDownloader.Sites(
            root.resolve("kubernetes/"), root.resolve("downloads/"), root.resolve("api/"));
    return new ReleaseDownloader(modules, platform, sites, line -> {});
  }

  private static HttpServer start() {
    try {
      return HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
