/** The webhook configurations, and their check. */
@NullMarked
package dev.sluice.webhooks.registration;

import org.jspecify.annotations.NullMarked;
