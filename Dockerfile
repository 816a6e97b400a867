# The server alone, without the book:
#   make wheel && docker build -t adalib .
#   docker run --user "$(id -u):$(id -g)" -p 127.0.0.1:8081:8081 -v "$PWD/router:/router" -e OPENAI_API_KEY adalib --upstream URL --model M
# As your own user it may write router/debt.json into your folder. It has no keys of its own, so the port is open to this machine alone (examples/litellm puts a gateway in front).
FROM python:3.13-slim
COPY dist/*.whl /tmp/
RUN for wheel in /tmp/*.whl; do pip install --no-cache-dir "$wheel[serve]"; done && useradd --create-home adalib
USER adalib
EXPOSE 8081
HEALTHCHECK CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8081/health')"]
ENTRYPOINT ["adalib", "serve", "/router", "--host", "0.0.0.0", "--allow-host", "localhost", "--port", "8081"]
CMD ["--help"]
