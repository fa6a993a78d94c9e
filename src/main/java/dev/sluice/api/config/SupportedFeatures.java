package dev.sluice.api.config;

import java.util.List;

/**
 * What of the fields works today; {@link FeatureGate} says it of the gates. Whatever is listed here
 * as missing is refused by name, so that nobody believes it to work.
 */
final class SupportedFeatures {

  /** Fields that can't be used yet, and how the operator behaves without them. */
  private static final List<List<String>> MISSING =
      List.of(
          List.of(
              "resources.deviceClassMappings",
              "devices of dynamic resource allocation are not counted"));

  private SupportedFeatures() {}

  /** Notes every field that the file gives a value and that can't be used yet. */
  static void refuseMissing(ObjectFieldReader file, ValidationErrors errors) {
    for (List<String> missing : MISSING) {
      if (file.given(missing.getFirst())) {
        errors.add(missing.getFirst(), "not supported yet: " + missing.getLast());
      }
    }
  }
}
