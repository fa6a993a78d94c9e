/**
 * Admission reviews: the request, the answer, the errors of fields, and the way from bytes to the
 * function that answers. Nothing here knows a kind.
 */
@NullMarked
package dev.sluice.webhooks.review;

import org.jspecify.annotations.NullMarked;
