/* SPDX-License-Identifier: MIT */
/* How a room below the commands tells what went wrong: it fills a struct dwell_err and returns a
 * negative errno. Only commands print the message ("dwell: " + msg) and choose the exit status. */
#ifndef DWELL_LIB_ERR_H
#define DWELL_LIB_ERR_H

/* Exit statuses of every command (dwell(1)). */
enum {
	DWELL_EXIT_OK = 0,
	DWELL_EXIT_NO = 1,     /* a gate or check said no */
	DWELL_EXIT_USAGE = 2,  /* the command line cannot be used */
	DWELL_EXIT_FAILED = 3, /* could not: I/O, permission, damaged input */
	DWELL_EXIT_LOSS = 4,   /* done, but with loss, under --strict */
};

struct dwell_err {
	int code;      /* negative errno, 0 = nothing set */
	char msg[512]; /* "cannot open 'FILE': No such file or directory"; no final stop */
};

/* Formats a message into err (which may be NULL) unless one is set already: the first cause wins.
 * Returns code, so that callers write: return dwell_err_set(err, -EINVAL, "..."). */
int dwell_err_set(struct dwell_err *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Like dwell_err_set(), with ": " and strerror(-code) appended. */
int dwell_err_sys(struct dwell_err *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Puts "what: " in front of a message already set; returns err->code. */
int dwell_err_wrap(struct dwell_err *err, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* dwell_text_clean() with '?' for what is not UTF-8 either: names come from other users' processes
 * and end up on terminals. Returns dst. */
char *dwell_printable(char *dst, unsigned long dst_bytes, const char *src);

#endif
