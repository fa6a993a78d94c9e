package dev.sluice.server.certificates;

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
