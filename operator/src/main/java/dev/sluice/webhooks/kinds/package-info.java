/** The webhook of each kind, as a function from request to answer, made of shared rules. */
@NullMarked
package dev.sluice.webhooks.kinds;

import org.jspecify.annotations.NullMarked;
