package dev.sluice.webhooks.review;

/**
 * Path of a value in an object, in the API server's notation: {@code spec.flavors[0].labels[a/b]}.
 *
 * @param text the path from the object's root
 */
public record FieldPath(String text) {

  /** The path of nested fields, the outermost first. */
  public static FieldPath of(String... fields) {
    return new FieldPath(String.join(".", fields));
  }

  /** The path of a field of the object at this path. */
  public FieldPath child(String field) {
    return new FieldPath(text + "." + field);
  }

  /** The path of an element of the list at this path, counted from 0. */
  public FieldPath index(int index) {
    return new FieldPath(text + "[" + index + "]");
  }

  /** The path of an entry of the map at this path. */
  public FieldPath key(String key) {
    return new FieldPath(text + "[" + key + "]");
  }

  @Override
  public String toString() {
    return text;
  }
}
