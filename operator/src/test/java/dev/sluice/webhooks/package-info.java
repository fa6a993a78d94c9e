/** Reviews as tests write them, for every room of the webhooks. */
@NullMarked
package dev.sluice.webhooks;

import org.jspecify.annotations.NullMarked;
