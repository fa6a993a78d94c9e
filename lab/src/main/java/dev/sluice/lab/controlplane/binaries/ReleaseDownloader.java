package dev.sluice.lab.controlplane.binaries;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.lab.controlplane.binaries.DefaultBinarySources.BundleBuilder;
import dev.sluice.lab.controlplane.binaries.DefaultBinarySources.Platform;
import dev.sluice.lab.controlplane.binaries.DefaultBinarySources.Progress;
import dev.sluice.lab.controlplane.binaries.DefaultBinarySources.SourceFailedException;
import java.io.BufferedInputStream;
import java.io.Closeable;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.zip.GZIPInputStream;

/**
 * Downloads a bundle from its project's official release. Files without a published checksum, or
 * with a different one, are rejected.
 */
public final class ReleaseDownloader implements BundleBuilder {

  /**
   * Download sites.
   *
   * @param kubernetes root of the Kubernetes download site
   * @param downloads root of GitHub's downloads
   * @param api root of GitHub's API, which reports the digests of downloads
   */
  public record Sites(URI kubernetes, URI downloads, URI api) {

    /** The official sites. */
    public static Sites official() {
      return new Sites(
          URI.create("https://dl.k8s.io/"),
          URI.create("https://github.com/"),
          URI.create("https://api.github.com/"));
    }
  }

  private final ModuleFiles modules;
  private final Platform platform;
  private final Sites sites;
  private final Downloader downloader;

  /** Creates a downloader for a platform; only Linux has releases of all programs. */
  public ReleaseDownloader(ModuleFiles modules, Platform platform, Sites sites, Progress progress) {
    this.modules = modules;
    this.platform = platform;
    this.sites = sites;
    this.downloader = new Downloader(progress);
  }

  @Override
  public String name() {
    return "official release";
  }

  @Override
  public void make(Bundle bundle, Path emptyDirectory)
      throws SourceFailedException, InterruptedException {
    if (!platform.os().equals("linux")) {
      throw new SourceFailedException("is used on linux only, this is " + platform);
    }
    try {
      switch (bundle) {
        case KUBERNETES -> kubernetes(emptyDirectory);
        case ETCD -> etcd(emptyDirectory);
        case KWOK -> kwok(emptyDirectory);
      }
      for (Program program : bundle.programs()) {
        Files.setPosixFilePermissions(
            emptyDirectory.resolve(program.file()), PosixFilePermissions.fromString("rwxr-xr-x"));
      }
    } catch (IOException e) {
      throw new SourceFailedException("can't write the download: " + e, e);
    }
  }

  private void kubernetes(Path directory)
      throws SourceFailedException, InterruptedException, IOException {
    for (Program program : Bundle.KUBERNETES.programs()) {
      URI file =
          sites
              .kubernetes()
              .resolve(
                  "release/%s/bin/%s/%s/%s"
                      .formatted(
                          modules.version(Bundle.KUBERNETES),
                          platform.os(),
                          platform.arch(),
                          program.file()));
      Checksum checksum = Checksum.parse(downloader.text(URI.create(file + ".sha256")).strip());
      downloader.file(file, checksum, directory.resolve(program.file()));
    }
  }

  private void etcd(Path directory)
      throws SourceFailedException, InterruptedException, IOException {
    String version = modules.version(Bundle.ETCD);
    String stem = "etcd-%s-%s".formatted(version, platform);
    URI release =
        sites.downloads().resolve("etcd-io/etcd/releases/download/%s/".formatted(version));
    String archiveName = stem + ".tar.gz";
    Checksum checksum = Checksum.find(downloader.text(release.resolve("SHA256SUMS")), archiveName);
    Path archive = directory.resolve(archiveName);
    downloader.file(release.resolve(archiveName), checksum, archive);
    try (TarGz content = TarGz.open(archive)) {
      Files.copy(
          content.find(stem + "/etcd"),
          directory.resolve(Program.ETCD.file()),
          StandardCopyOption.REPLACE_EXISTING);
    }
    Files.delete(archive);
  }

  /** KWOK's releases contain no checksum file; GitHub's API reports the digests of its assets. */
  private void kwok(Path directory)
      throws SourceFailedException, InterruptedException, IOException {
    String version = modules.version(Bundle.KWOK);
    String asset = "kwok-" + platform;
    URI description =
        sites.api().resolve("repos/kubernetes-sigs/kwok/releases/tags/%s".formatted(version));
    Checksum checksum = Checksum.ofAsset(downloader.text(description), asset);
    URI file =
        sites
            .downloads()
            .resolve("kubernetes-sigs/kwok/releases/download/%s/%s".formatted(version, asset));
    downloader.file(file, checksum, directory.resolve(Program.KWOK.file()));
  }

  /** Downloads files over HTTPS, with timeouts. */
  private static final class Downloader {

    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(5);
    private static final Duration TEXT_TIMEOUT = Duration.ofSeconds(15);
    private static final Duration FILE_TIMEOUT = Duration.ofMinutes(10);

    private final Progress progress;

    Downloader(Progress progress) {
      this.progress = progress;
    }

    String text(URI uri) throws SourceFailedException, InterruptedException {
      return get(uri, TEXT_TIMEOUT, BodyHandlers.ofString());
    }

    void file(URI uri, Checksum checksum, Path target)
        throws SourceFailedException, InterruptedException, IOException {
      progress.say("downloading " + uri);
      get(uri, FILE_TIMEOUT, BodyHandlers.ofFile(target));
      checksum.verify(target);
    }

    private static <T> T get(URI uri, Duration timeout, BodyHandler<T> handler)
        throws SourceFailedException, InterruptedException {
      HttpRequest request = HttpRequest.newBuilder(uri).timeout(timeout).GET().build();
      try (HttpClient client =
          HttpClient.newBuilder()
              .connectTimeout(CONNECT_TIMEOUT)
              .followRedirects(HttpClient.Redirect.NORMAL)
              .build()) {
        HttpResponse<T> response = client.send(request, handler);
        if (response.statusCode() != 200) {
          throw new SourceFailedException("%s answers %d".formatted(uri, response.statusCode()));
        }
        return response.body();
      } catch (IOException e) {
        String reason = e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
        throw new SourceFailedException("%s can't be reached (%s)".formatted(uri, reason), e);
      }
    }
  }

  /** Reads one file from a compressed tar archive. */
  private static final class TarGz implements Closeable {

    private static final int BLOCK = 512;
    private static final int NAME_LENGTH = 100;
    private static final int SIZE_OFFSET = 124;
    private static final int SIZE_LENGTH = 12;

    private final InputStream content;

    private TarGz(InputStream content) {
      this.content = content;
    }

    static TarGz open(Path archive) throws IOException {
      return new TarGz(
          new BufferedInputStream(new GZIPInputStream(Files.newInputStream(archive)), 1 << 16));
    }

    /** The content of the first file of that path; valid until this object is closed. */
    InputStream find(String path) throws IOException {
      for (byte[] header = content.readNBytes(BLOCK);
          header.length == BLOCK && header[0] != 0;
          header = content.readNBytes(BLOCK)) {
        long size = Long.parseLong(field(header, SIZE_OFFSET, SIZE_LENGTH).strip(), 8);
        if (field(header, 0, NAME_LENGTH).equals(path)) {
          return new Limited(content, size);
        }
        content.skipNBytes((size + BLOCK - 1) / BLOCK * BLOCK);
      }
      throw new IOException("the archive has no " + path);
    }

    private static String field(byte[] header, int offset, int length) {
      String text = new String(header, offset, length, StandardCharsets.US_ASCII);
      int end = text.indexOf('\0');
      return end < 0 ? text : text.substring(0, end);
    }

    @Override
    public void close() throws IOException {
      content.close();
    }

    private static final class Limited extends FilterInputStream {

      private long left;

      Limited(InputStream in, long size) {
        super(in);
        this.left = size;
      }

      @Override
      public int read() throws IOException {
        if (left == 0) {
          return -1;
        }
        left--;
        return in.read();
      }

      @Override
      public int read(byte[] target, int offset, int length) throws IOException {
        if (left == 0) {
          return -1;
        }
        int count = in.read(target, offset, (int) Math.min(length, left));
        left -= Math.max(count, 0);
        return count;
      }
    }
  }

  /**
   * A published SHA-256 checksum.
   *
   * @param hex 64 digits, lower case
   */
  private record Checksum(String hex) {

    private static final Pattern FORM = Pattern.compile("[0-9a-f]{64}");

    Checksum {
      if (!FORM.matcher(hex).matches()) {
        throw new IllegalArgumentException("not a SHA-256: " + hex);
      }
    }

    /** Parses a text that contains only the checksum. */
    static Checksum parse(String text) throws SourceFailedException {
      String hex = text.toLowerCase(Locale.ROOT);
      if (!FORM.matcher(hex).matches()) {
        throw new SourceFailedException("what is published as a checksum isn't a SHA-256");
      }
      return new Checksum(hex);
    }

    /** Finds the checksum of a file in lines of the form {@code <checksum> <file>}. */
    static Checksum find(String lines, String file) throws SourceFailedException {
      for (String line : lines.split("\n", -1)) {
        String[] words = line.strip().split("\\s+", -1);
        if (words.length == 2 && words[1].equals(file)) {
          return parse(words[0]);
        }
      }
      throw new SourceFailedException("publishes no checksum of " + file);
    }

    /** Reads the digest of an asset from GitHub's description of a release. */
    static Checksum ofAsset(String release, String asset) throws SourceFailedException {
      JsonNode description;
      try {
        description = JsonMappers.JSON.readTree(release);
      } catch (JsonProcessingException e) {
        throw new SourceFailedException("the description of the release can't be read", e);
      }
      for (JsonNode candidate : description.path("assets")) {
        String digest = candidate.path("digest").asText("");
        if (candidate.path("name").asText().equals(asset) && digest.startsWith("sha256:")) {
          return parse(digest.substring("sha256:".length()));
        }
      }
      throw new SourceFailedException("publishes no checksum of " + asset);
    }

    /** Fails unless the file has this checksum. */
    void verify(Path file) throws IOException, SourceFailedException {
      String actual = of(file);
      if (!actual.equals(hex)) {
        throw new SourceFailedException(
            "%s has checksum %s, published is %s".formatted(file.getFileName(), actual, hex));
      }
    }

    private static String of(Path file) throws IOException {
      try (InputStream in = Files.newInputStream(file);
          DigestInputStream digested = new DigestInputStream(in, sha256())) {
        digested.transferTo(OutputStream.nullOutputStream());
        return HexFormat.of().formatHex(digested.getMessageDigest().digest());
      }
    }

    private static MessageDigest sha256() {
      try {
        return MessageDigest.getInstance("SHA-256");
      } catch (NoSuchAlgorithmException e) {
        throw new IllegalStateException("every JDK has SHA-256", e);
      }
    }
  }
}
