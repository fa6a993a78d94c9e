package dev.sluice.kube.certificates;

import java.io.ByteArrayOutputStream;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads the forms of private keys that clusters make, with what Java has itself. Other forms are
 * left to a library that takes long to load.
 */
final class CommonKeys {

  private static final Pattern BLOCK =
      Pattern.compile(
          "\\s*+-----BEGIN (RSA )?PRIVATE KEY-----([A-Za-z0-9+/=\\s]++)"
              + "-----END (?:RSA )?PRIVATE KEY-----\\s*+");
  private static final String[] ALGORITHMS = {"RSA", "EC", "EdDSA"};
  private static final int SEQUENCE = 0x30;
  private static final int OCTETS = 0x04;
  private static final int SHORT = 0x80;
  private static final int BYTE = 0xff;

  /** Version 0 and the algorithm RSA, in DER. */
  private static final byte[] RSA = {
    0x02,
    0x01,
    0x00,
    0x30,
    0x0d,
    0x06,
    0x09,
    0x2a,
    (byte) 0x86,
    0x48,
    (byte) 0x86,
    (byte) 0xf7,
    0x0d,
    0x01,
    0x01,
    0x01,
    0x05,
    0x00
  };

  private CommonKeys() {}

  /** The key, if the text is one block of PKCS#8, or of PKCS#1 for RSA, and can be read. */
  static Optional<PrivateKey> read(String pem) {
    Matcher block = BLOCK.matcher(pem);
    if (!block.matches()) {
      return Optional.empty();
    }
    try {
      byte[] der = Base64.getMimeDecoder().decode(block.group(2));
      return key(block.group(1) == null ? der : ofRsa(der));
    } catch (IllegalArgumentException notBase64) {
      return Optional.empty();
    }
  }

  private static Optional<PrivateKey> key(byte[] pkcs8) {
    for (String algorithm : ALGORITHMS) {
      try {
        return Optional.of(
            KeyFactory.getInstance(algorithm).generatePrivate(new PKCS8EncodedKeySpec(pkcs8)));
      } catch (GeneralSecurityException ofAnother) {
        // The next algorithm is tried.
      }
    }
    return Optional.empty();
  }

  /** A key of PKCS#1 as one of PKCS#8. */
  private static byte[] ofRsa(byte[] pkcs1) {
    ByteArrayOutputStream content = new ByteArrayOutputStream();
    content.writeBytes(RSA);
    content.writeBytes(element(OCTETS, pkcs1));
    return element(SEQUENCE, content.toByteArray());
  }

  private static byte[] element(int tag, byte[] content) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.write(tag);
    int length = content.length;
    if (length < SHORT) {
      out.write(length);
    } else {
      int bytes = length <= BYTE ? 1 : length <= 0xffff ? 2 : 3;
      out.write(SHORT | bytes);
      for (int shift = (bytes - 1) * Byte.SIZE; shift >= 0; shift -= Byte.SIZE) {
        out.write(length >> shift & BYTE);
      }
    }
    out.writeBytes(content);
    return out.toByteArray();
  }
}
