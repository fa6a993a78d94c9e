package dev.sluice.server;

import dev.sluice.kube.certificates.CertificateWithKey;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;

/**
 * Reads a certificate that an external tool writes into a directory as {@code tls.crt} and {@code
 * tls.key}.
 */
public final class CertificateDirectory implements CertificateSource {

  private final Path directory;
  private final ReloadableKeyManager keys;
  private String lastDigest = "";

  /** Creates the source without reading files. */
  public CertificateDirectory(Path directory, ReloadableKeyManager keys) {
    this.directory = directory;
    this.keys = keys;
  }

  /** Compares files by content, so that every way of replacing them is noticed. */
  @Override
  public synchronized void refresh() throws GeneralSecurityException, IOException {
    String certificate = read("tls.crt");
    String key = read("tls.key");
    String now = certificate + key;
    if (!now.equals(lastDigest)) {
      keys.use(CertificateWithKey.parse(certificate, key));
      lastDigest = now;
    }
  }

  private String read(String name) throws IOException {
    Path file = directory.resolve(name);
    try {
      return Files.readString(file, StandardCharsets.UTF_8);
    } catch (NoSuchFileException e) {
      throw new IOException(
          "webhook.certDir: \"" + directory + "\" has no file " + name + " yet", e);
    }
  }
}
