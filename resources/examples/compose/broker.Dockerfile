# docker build --file broker.Dockerfile --tag brokerscope . && docker run --rm -e BROKERSCOPE_TOKEN=sixteen-letters-or-more -p 8080:8080 -p 9092:9092 brokerscope
# Kafka's clients are told the address of the container, which a Mac or Windows does not reach: have them in Docker's network there, as in compose.yaml.
FROM python:3.11-slim
RUN pip install --no-cache-dir brokerscope && useradd --create-home broker
USER broker
EXPOSE 8080 9092
HEALTHCHECK --interval=1s --start-period=30s CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8080/health')"]
ENTRYPOINT ["brokerscope"]
CMD ["serve", "--address", "0.0.0.0", "--http", "8080", "--kafka", "9092", "--create-topics", "3", "--testing"]
