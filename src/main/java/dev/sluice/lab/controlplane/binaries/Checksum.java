package dev.sluice.lab.controlplane.binaries;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.json.JsonMappers;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * A published SHA-256 checksum.
 *
 * @param hex 64 digits, lower case
 */
record Checksum(String hex) {

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
