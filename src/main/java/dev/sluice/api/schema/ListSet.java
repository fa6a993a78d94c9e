package dev.sluice.api.schema;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** No item of the list occurs twice, and server-side apply merges item by item. */
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.FIELD})
public @interface ListSet {}
