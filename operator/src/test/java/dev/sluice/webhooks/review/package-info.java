/** Reviews are read and answered; errors of fields are collected. */
@NullMarked
package dev.sluice.webhooks.review;

import org.jspecify.annotations.NullMarked;
