package dev.sluice.server.certificates;

import java.nio.file.Path;
import java.util.List;

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
}
