#!/usr/bin/env python3
"""Writes the seeds of the fuzz targets into corpus/head and corpus/chunked beside this file.

Each seed has a name that says what it is. Files that a fuzzer found are kept under their hash and not touched.
"""
import pathlib

HOST = b"Host: a.example\r\n"


def request(line=b"GET / HTTP/1.1", fields=b"", host=HOST):
    return line + b"\r\n" + host + fields + b"\r\n"


def post(fields):
    return request(b"POST /v1/chat/completions HTTP/1.1", fields)


def response(fields, line=b"HTTP/1.1 200 OK"):
    return line + b"\r\n" + fields + b"\r\n"


HEADS = {
    # What clients and servers send.
    "curl_get": request(b"GET /v1/models?limit=2 HTTP/1.1", b"User-Agent: curl/7.88.1\r\nAccept: */*\r\n"),
    "sdk_post": post(b"Content-Type: application/json\r\nAuthorization: Bearer sk-1\r\nContent-Length: 137\r\n"
                     b"Accept-Encoding: gzip, deflate, br\r\nConnection: keep-alive\r\n"),
    "chunked_post": post(b"Transfer-Encoding: chunked\r\nTrailer: Digest\r\n"),
    "upgrade": request(fields=b"Connection: keep-alive, Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                              b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"),
    "expect_continue": post(b"Content-Length: 5\r\nExpect: 100-continue\r\n"),
    "http10": request(b"GET / HTTP/1.0", b"Connection: keep-alive\r\n", b""),
    "absolute_form": request(b"GET http://A.example:80/p?q HTTP/1.1"),
    "absolute_form_ipv6": request(b"GET https://[::1]?q HTTP/1.1", host=b"Host: [::1]:443\r\n"),
    "options_star": request(b"OPTIONS * HTTP/1.1"),
    "connect": request(b"CONNECT a.example:443 HTTP/1.1"),
    "leading_empty_lines": b"\r\n\r\n" + request(),
    "pipelined": request() + request(b"GET /second HTTP/1.1"),
    "nominated": request(fields=b"Connection: close, X-Hop, te\r\nX-Hop: 1\r\nTE: trailers\r\n"),
    "obs_text": request(fields=b"Cookie: n=\xc3\xa4\r\n"),
    "response_length": response(b"content-length: 412\r\ncontent-type: application/json\r\n"),
    "response_chunked": response(b"content-type: text/event-stream\r\ntransfer-encoding: chunked\r\n"),
    "response_until_close": response(b"Server: x\r\n", b"HTTP/1.0 200 "),
    "response_100": response(b"", b"HTTP/1.1 100 Continue"),
    "response_101": response(b"Upgrade: websocket\r\nConnection: Upgrade\r\n", b"HTTP/1.1 101 Switching Protocols"),
    "response_204": response(b"Content-Length: 0\r\n", b"HTTP/1.1 204 No Content"),
    "response_304": response(b"Content-Length: 5\r\nETag: \"a\"\r\n", b"HTTP/1.1 304 Not Modified"),
    # What must be refused.
    "bad_length_and_coding": post(b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"),
    "bad_coding_and_length": post(b"Transfer-Encoding: gzip\r\nContent-Length: 5\r\n"),
    "bad_coding_xchunked": post(b"Transfer-Encoding: xchunked\r\n"),
    "bad_coding_not_last": post(b"Transfer-Encoding: chunked, identity\r\n"),
    "bad_coding_before": post(b"Transfer-Encoding: gzip, chunked\r\n"),
    "bad_coding_comma": post(b"Transfer-Encoding: ,chunked\r\n"),
    "bad_coding_twice": post(b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"),
    "bad_coding_vt": post(b"Transfer-Encoding: \x0bchunked\r\n"),
    "bad_coding_http10": request(b"POST / HTTP/1.0", b"Transfer-Encoding: chunked\r\n"),
    "bad_length_empty": post(b"Content-Length: \r\nContent-Length: 5\r\n"),
    "bad_length_plus": post(b"Content-Length: +1_0\r\n"),
    "bad_length_hex": post(b"Content-Length: 0x10\r\n"),
    "length_010": post(b"Content-Length: 010\r\n"),
    "bad_length_letter": post(b"Content-Length: 1Z\r\n"),
    "bad_length_list": post(b"Content-Length: 5, 5\r\n"),
    "bad_length_repeated": post(b"Content-Length: 5\r\nContent-Length: 5\r\n"),
    "bad_length_overflow": post(b"Content-Length: 18446744073709551616\r\n"),
    "bad_length_high_byte": post(b"Content-Length\x85: 10\r\n"),
    "bad_length_underscore": post(b"Content_Length: 10\r\n"),
    "bad_length_tab_first": b"POST / HTTP/1.1\r\n\tContent-Length: 1\r\n" + HOST + b"\r\n",
    "bad_fold": request(fields=b"A: b\r\n c\r\n"),
    "bad_fold_empty": request(fields=b"Content-Length:\r\n 5\r\n"),
    "bad_bare_lf": b"GET / HTTP/1.1\n" + HOST + b"\r\n",
    "bad_lf_nul_cr": request(fields=b"Header: v\n\x00\ralue\r\n"),
    "bad_bare_cr": request(fields=b"A: b\rc\r\n"),
    "bad_empty_name": request(fields=b": value\r\n"),
    "bad_space_before_colon": post(b"Content-Length : 5\r\n"),
    "bad_host_nul": request(host=b"Host: a\x00.b\r\n"),
    "bad_host_user": request(host=b"Host: me@a\r\n"),
    "bad_host_twice": request(fields=HOST),
    "bad_host_other": request(b"GET http://b/ HTTP/1.1"),
    "bad_version_1_32": request(b"GET / HTTP/1.32"),
    "bad_version_preface": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "bad_fragment": request(b"GET /a#b HTTP/1.1"),
    "bad_star": request(b"GET * HTTP/1.1"),
    "bad_response_both": response(b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"),
    "bad_response_coding": response(b"Transfer-Encoding: gzip, chunked\r\n"),
    "bad_response_204": response(b"Transfer-Encoding: chunked\r\n", b"HTTP/1.1 204 No Content"),
    "bad_response_status": response(b"", b"HTTP/1.1 099 Low"),
}

CHUNKED = {
    "plain": b"5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n",
    "last_only": b"0\r\n\r\n",
    "leading_zeros": b"00000005\r\nhello\r\n000\r\n\r\n",
    "hex_letters": b"aA\r\n" + b"x" * 0xAA + b"\r\n0\r\n\r\n",
    "extensions": b"5;name=value ; other=\"a;\\\"b\" ;flag\r\nhello\r\n0;last\r\n\r\n",
    "trailers": b"5\r\nhello\r\n0\r\nDigest: x\r\nA:\r\nB: \xc3\xa4\r\n\r\n",
    "followed_by_request": b"1\r\na\r\n0\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
    "line_ends_in_data": b"4\r\n\r\n\r\n\r\n0\r\n\r\n",
    "event_stream": b"1c\r\ndata: {\"delta\":\"one\"}\n\ndata\r\n0f\r\n: [DONE]\n\n01234\r\n0\r\n\r\n",
    "bad_size_underscore": b"0_2e\r\nab\r\n0\r\n\r\n",
    "bad_size_prefix": b"0x2\r\nab\r\n0\r\n\r\n",
    "bad_size_empty": b"\r\nab\r\n0\r\n\r\n",
    "bad_size_plus": b"+2\r\nab\r\n0\r\n\r\n",
    "bad_size_space": b"2 \r\nab\r\n0\r\n\r\n",
    "bad_size_digits": b"00000000000000002\r\nab\r\n0\r\n\r\n",
    "bad_size_overflow": b"ffffffffffffffff\r\nab\r\n0\r\n\r\n",
    "bad_two_cr": b"1\r\r;ext\r\na\r\n0\r\n\r\n",
    "bad_lf_in_extension": b"2;a\nb\r\nab\r\n0\r\n\r\n",
    "bad_cr_in_extension": b"2;a\rb\r\nab\r\n0\r\n\r\n",
    "bad_nul_in_extension": b"2;a\x00\r\nab\r\n0\r\n\r\n",
    "bad_quote_open": b"2;a=\"b\\\"\r\nab\r\n0\r\n\r\n",
    "bad_lf_after_size": b"2\nab\r\n0\r\n\r\n",
    "bad_lf_after_data": b"2\r\nab\n0\r\n\r\n",
    "bad_longer_data": b"2\r\nabc\r\n0\r\n\r\n",
    "bad_trailer_framing": b"0\r\nContent-Length: 5\r\n\r\n",
    "bad_trailer_fold": b"0\r\nA: a\r\n b\r\n\r\n",
    "bad_trailer_name": b"0\r\nA : a\r\n\r\n",
    "bad_trailer_lf": b"0\r\nA: a\r\n\n",
    "bad_long_line": b"1;" + b"a" * 300 + b"\r\na\r\n0\r\n\r\n",
    "bad_thin_extensions": (b"1;" + b"a" * 200 + b"\r\nx\r\n") * 90 + b"0\r\n\r\n",
}


def main():
    corpus = pathlib.Path(__file__).parent / "corpus"
    for folder, seeds in (("head", HEADS), ("chunked", CHUNKED)):
        (corpus / folder).mkdir(parents=True, exist_ok=True)
        for name, data in seeds.items():
            (corpus / folder / name).write_bytes(data)
        print(f"{folder}: {len(seeds)} seeds")


if __name__ == "__main__":
    main()
