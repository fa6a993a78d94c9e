package dev.sluice.api.sluice;

/**
 * Something wrong in a spec.
 *
 * @param path where, from the object's root
 * @param value what is there
 * @param rule what is allowed, after "must be" or so
 */
public record SpecFault(String path, String value, String rule) {

  private static final int MOST_CHARACTERS = 64;

  public SpecFault {
    value = value.length() > MOST_CHARACTERS ? value.substring(0, MOST_CHARACTERS) + "…" : value;
  }

  @Override
  public String toString() {
    return path + ": \"" + value + "\": " + rule;
  }
}
