package dev.sluice.api.schema;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** Length of a text, in characters. */
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.FIELD})
public @interface Text {
  /** Least number of characters. */
  int min() default 0;

  /** Most characters; negative for no limit. */
  int max() default -1;
}
