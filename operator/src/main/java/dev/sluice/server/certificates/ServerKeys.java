package dev.sluice.server.certificates;

import dev.sluice.kube.certificates.CertificateWithKey;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.List;
import java.util.Map;

/**
 * The keys that the servers present.
 *
 * @param webhooks of the webhooks
 * @param metrics of metrics and profiles
 * @param visibility of the visibility API
 */
public record ServerKeys(
    ReloadableKeyManager webhooks, ReloadableKeyManager metrics, ReloadableKeyManager visibility) {

  /** Where other operators of this API expect the certificate of the metrics. */
  public static final Path METRICS_DIRECTORY = Path.of("/etc/kueue/metrics/certs");

  /** Where other operators of this API expect the certificate of the visibility API. */
  public static final Path VISIBILITY_DIRECTORY = Path.of("/visibility");

  /** One key for all servers. */
  public static ServerKeys shared() {
    ReloadableKeyManager keys = new ReloadableKeyManager();
    return new ServerKeys(keys, keys, keys);
  }

  /**
   * The keys by the names of their servers: {@code webhooks}, {@code metrics}, {@code visibility}.
   */
  public Map<String, ReloadableKeyManager> byServer() {
    return Map.of("webhooks", webhooks, "metrics", metrics, "visibility", visibility);
  }

  /** A key for each server. */
  public static ServerKeys separate() {
    return new ServerKeys(
        new ReloadableKeyManager(), new ReloadableKeyManager(), new ReloadableKeyManager());
  }

  /**
   * Sources that read a directory for each server, that of the webhooks first. A server whose
   * directory does not exist gets the certificate of the webhooks.
   */
  public List<CertificateSource> directories(
      Path webhookDirectory, Path metricsDirectory, Path visibilityDirectory) {
    return List.of(
        new CertificateDirectory(webhookDirectory, webhooks),
        new CertificateDirectory(metricsDirectory, webhookDirectory, metrics),
        new CertificateDirectory(visibilityDirectory, webhookDirectory, visibility));
  }

  /**
   * Reads a certificate that an external tool writes into a directory as {@code tls.crt} and {@code
   * tls.key}.
   */
  public static final class CertificateDirectory implements CertificateSource {

    private final Path directory;
    private final Path otherwise;
    private final ReloadableKeyManager keys;
    private String lastContent = "";

    /** Creates the source without reading files. */
    public CertificateDirectory(Path directory, ReloadableKeyManager keys) {
      this(directory, directory, keys);
    }

    /**
     * Creates the source without reading files.
     *
     * @param otherwise the directory that is read as long as {@code directory} does not exist
     */
    public CertificateDirectory(Path directory, Path otherwise, ReloadableKeyManager keys) {
      this.directory = directory;
      this.otherwise = otherwise;
      this.keys = keys;
    }

    /** Compares files by content, so that every way of replacing them is noticed. */
    @Override
    public synchronized void refresh() throws GeneralSecurityException, IOException {
      Path now = Files.isDirectory(directory) ? directory : otherwise;
      String certificate = read(now.resolve("tls.crt"));
      String key = read(now.resolve("tls.key"));
      String content = certificate + key;
      if (!content.equals(lastContent)) {
        keys.use(CertificateWithKey.parse(certificate, key));
        lastContent = content;
      }
    }

    private static String read(Path file) throws IOException {
      try {
        return Files.readString(file, StandardCharsets.UTF_8);
      } catch (NoSuchFileException e) {
        throw new IOException("the certificate file \"" + file + "\" does not exist yet", e);
      }
    }
  }

  /** Source of the serving certificate. */
  public interface CertificateSource {

    /**
     * Reads the source and updates the key manager if the certificate changed.
     *
     * @throws GeneralSecurityException when there is no usable certificate; the previous one stays
     *     in use
     * @throws IOException when the source cannot be read
     */
    void refresh() throws GeneralSecurityException, IOException;
  }
}
