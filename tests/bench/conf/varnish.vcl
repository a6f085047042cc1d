# Varnish as it comes, on one thread pool; the origin says nothing of freshness, so the time is set here, as for the
# others. peers.mjs fills in what stands between at signs.
vcl 4.1;

backend origin {
    .host = "127.0.0.1";
    .port = "@ORIGIN@";
}

sub vcl_backend_fetch {
    if (bereq.url == "/hit") {
        set bereq.url = "/w1";
    } elsif (bereq.url == "/hit256k") {
        set bereq.url = "/w4";
    }
}

sub vcl_backend_response {
    set beresp.ttl = 10m;
}
